CREATE TABLE part(part VARCHAR(30), PRIMARY KEY (part));
CREATE TABLE supplier(supplier VARCHAR(30), lead_days INT, shipping FLOAT, PRIMARY KEY (supplier));
CREATE TABLE offer(supplier VARCHAR(30), part VARCHAR(30), unit_price FLOAT, stock INT,
  PRIMARY KEY (supplier, part));
INSERT INTO part(part) VALUES ("bolt");
INSERT INTO part(part) VALUES ("gear");
INSERT INTO supplier(supplier, lead_days, shipping) VALUES ("Arnold", 2, 40.0);
INSERT INTO supplier(supplier, lead_days, shipping) VALUES ("Bell and Sons", 5, 5.0);
INSERT INTO supplier(supplier, lead_days, shipping) VALUES ("O'Hara", 3, 12.5);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("Arnold", "bolt", 0.5, 1000);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("Arnold", "gear", 9.0, 200);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("Bell and Sons", "bolt", 0.75, 1000);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("Bell and Sons", "gear", 9.5, 60);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("O'Hara", "bolt", 0.625, 400);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("O'Hara", "gear", 9.25, 200);
