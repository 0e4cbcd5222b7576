-- Example B.8 (QA_1): Account categories that receive over $10,000,000 a day
-- A category is the first character of an account number, by bank. Oracle's SUBSTR counts from 1 and takes position 0
-- for 1: the first character.
SELECT   t1.rbank_aba rbank_aba, SUBSTR(t1.benef_account, 0, 1) benef_account,
         TO_CHAR(t1.tran_date, 'YYYYMMDD') rtran_date,
         SUM(t1.amount) ramount, COUNT(*) recount
FROM     FedWireTrans t1
GROUP BY t1.rbank_aba, SUBSTR(t1.benef_account, 0, 1),
         TO_CHAR(t1.tran_date, 'YYYYMMDD')
HAVING   (SUM(t1.amount) > 10000000);
