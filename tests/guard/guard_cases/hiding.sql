CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40), email VARCHAR(60),
                       note VARCHAR(40), region VARCHAR(10), salary INTEGER);
INSERT INTO customer VALUES
  (1, 'ann', '{secret}ann@x', 'plain', 'EU', {number}1),
  (2, 'bob', '{secret}bob@x', '12', 'EU', {number}2),
  (3, 'cy', '{secret}cy@x', NULL, 'EU', {number}3),
  ({number}4, '{hidden}dan', '{secret}dan@x', '{hidden}', 'US', {number}4),
  ({number}5, '{hidden}eve', '{secret}eve@x', '{hidden}', 'US', {number}5);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER);
INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30), (4, 9, 5);
CREATE VIEW contacts AS SELECT name, email FROM customer;
CREATE VIEW deep AS SELECT * FROM contacts;
CREATE VIEW renamed AS SELECT salary, salary AS wage, email AS contact FROM customer;
CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id;
