CREATE TABLE items ( -- what the company sells
  item TEXT, -- the id
  name TEXT,
  reference_price REAL, -- price level 3; levels 1 to 5 are 80 to 120 % of it
  volume REAL, -- storage volume of a unit
  shelf_life INTEGER, -- periods in which a unit can be sold; NULL: no limit
  holding_cost REAL, -- of a unit in stock at the end of a period
  stockout_penalty REAL, -- for each customer who finds no stock
  salvage REAL -- value of a unit after the last period
);
CREATE TABLE sites ( -- shops, each with its storage
  site TEXT, -- the id
  capacity REAL, -- storage volume in the period to decide
  fixed_cost REAL, -- of a period, while it is open
  is_open INTEGER -- 1 if open
);
CREATE TABLE offers ( -- which supplier offers which item
  item TEXT,
  supplier TEXT,
  list_price REAL, -- of a unit ordered in the period to decide, after discounts and announced rises
  promised_lead INTEGER, -- periods until delivery, as promised
  is_default INTEGER -- 1 for the usual supplier
);
CREATE TABLE sales ( -- postings of the tills
  row_id INTEGER,
  period INTEGER, -- when it was posted
  item TEXT,
  site TEXT,
  units INTEGER, -- at most the stock: if nothing was left, demand may be higher
  kind TEXT, -- sale, or correction of the sale of ref_period (add it)
  ref_period INTEGER -- the period of the sale
);
CREATE TABLE prices ( -- our prices and the competitor's
  period INTEGER,
  item TEXT,
  level INTEGER, -- 1 to 5
  price REAL,
  competitor_price REAL -- list price in the same period, also while its shops are closed
);
CREATE TABLE inventory ( -- stock by period
  period INTEGER,
  item TEXT,
  site TEXT,
  opening INTEGER, -- before deliveries
  arrived INTEGER, -- usable units delivered at the start
  expired INTEGER,
  closing INTEGER -- after sales and expiry
);
CREATE TABLE orders ( -- orders placed with suppliers
  order_id INTEGER,
  period INTEGER, -- when it was placed
  item TEXT,
  site TEXT,
  supplier TEXT,
  quantity INTEGER,
  unit_cost REAL, -- paid also for defective units
  promised_period INTEGER, -- by the promised lead time, without announced delays
  arrival_period INTEGER, -- NULL until it arrives
  good_units INTEGER -- usable units; NULL until it arrives
);
CREATE TABLE promotions ( -- advertised items
  period INTEGER, -- in which customers see it
  item TEXT
);
CREATE TABLE forecasts ( -- guesses of the sales department for reference prices, made one period ahead
  period INTEGER, -- the period that it is about
  item TEXT,
  units INTEGER -- of all sites
);
CREATE TABLE memos ( -- texts that the company received
  period INTEGER, -- when
  text TEXT
);
CREATE TABLE ledger ( -- money by period; costs are negative
  period INTEGER,
  revenue REAL,
  purchases REAL,
  holding REAL,
  stockouts REAL,
  overflow REAL,
  relabelling REAL,
  fees REAL, -- for small orders
  fixed_costs REAL,
  proposals REAL, -- promotions and closing a site
  profit REAL -- the sum
);
CREATE TABLE data_dictionary ( -- known errors of the data
  table_name TEXT,
  note TEXT
);
CREATE TABLE events ( -- the decisions so far
  game INTEGER,
  number INTEGER, -- from 1
  stage TEXT,
  actor TEXT,
  action TEXT, -- the decision
  detail TEXT -- its result
);
