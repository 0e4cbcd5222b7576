-- Example B.11 (QA_4): Banks that send over $10,000,000 a day
-- The money each bank sent on a day, where it is above $10,000,000.
SELECT   t1.sbank_aba sbank_aba,
         TO_CHAR(t1.tran_date, 'YYYYMMDD') stran_date,
         SUM(t1.amount) samount, COUNT(*) scount
FROM     FedWireTrans t1
GROUP BY t1.sbank_aba,
         TO_CHAR(t1.tran_date, 'YYYYMMDD')
HAVING   (SUM(t1.amount) > 10000000);
