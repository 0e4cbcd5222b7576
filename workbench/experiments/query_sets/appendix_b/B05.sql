-- Example B.5 (Q_5): Banks with very much money coming and going on one day
-- Banks that on one day received more than $100,000,000 and sent more than $50,000,000. Two views and a query on them.
CREATE VIEW rbank_money AS
SELECT   r1.rbank_aba rbank_aba,
         r1.tran_date tran_date,
         SUM(r1.amount) rsum
FROM     FedWireTrans r1
GROUP BY r1.rbank_aba, r1.tran_date
HAVING   SUM(r1.amount) > 100000000;

CREATE VIEW sbank_money AS
SELECT   r2.sbank_aba sbank_aba,
         r2.tran_date tran_date,
         SUM(r2.amount) ssum
FROM     FedWireTrans r2
GROUP BY r2.sbank_aba, r2.tran_date
HAVING   SUM(r2.amount) > 50000000;

SELECT r.rbank_aba rbank_aba,
       s.sbank_aba sbank_aba,
       r.tran_date tran_date,
       r.rsum rsum,
       s.ssum ssum
FROM   rbank_money r, sbank_money s
WHERE  r.rbank_aba = s.sbank_aba AND
       r.tran_date = s.tran_date;
