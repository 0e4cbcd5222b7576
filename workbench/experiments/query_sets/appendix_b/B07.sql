-- Example B.7 (Q_7): A very big transfer of Citibank on 27 November 2002
-- Transfers of over $10,000,000 that Citibank sent on that day. The text of the thesis says $1,000,000, its SQL ten
-- times as much; the SQL is kept.
SELECT r1.tranid tranid,
       r1.sbank_name sbank_name,
       r1.tran_date tran_date,
       r1.amount amount
FROM   FedWireTrans r1
WHERE  r1.sbank_name = 'Citibank (New York State)' AND
       to_char(r1.tran_date, 'YYYYMMDD') = '20021127' AND
       r1.amount > 10000000;
