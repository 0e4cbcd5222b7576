-- Example B.9 (QA_2): Banks that receive over $10,000,000 a day
-- The money each bank received on a day, where it is above $10,000,000.
SELECT   t1.rbank_aba rbank_aba,
         TO_CHAR(t1.tran_date, 'YYYYMMDD') rtran_date,
         SUM(t1.amount) ramount, COUNT(*) recount
FROM     FedWireTrans t1
GROUP BY t1.rbank_aba,
         TO_CHAR(t1.tran_date, 'YYYYMMDD')
HAVING   (SUM(t1.amount) > 10000000);
