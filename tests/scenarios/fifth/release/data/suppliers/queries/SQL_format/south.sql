CREATE TABLE part(part VARCHAR(30), PRIMARY KEY (part));
CREATE TABLE supplier(supplier VARCHAR(30), lead_days INT, shipping FLOAT, PRIMARY KEY (supplier));
CREATE TABLE offer(supplier VARCHAR(30), part VARCHAR(30), unit_price FLOAT, stock INT,
  PRIMARY KEY (supplier, part));
INSERT INTO part(part) VALUES ("belt");
INSERT INTO supplier(supplier, lead_days, shipping) VALUES ("Castle", 1, 30.0);
INSERT INTO supplier(supplier, lead_days, shipping) VALUES ("Dove", 4, 10.0);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("Castle", "belt", 3.0, 500);
INSERT INTO offer(supplier, part, unit_price, stock) VALUES ("Dove", "belt", 4.0, 500);
