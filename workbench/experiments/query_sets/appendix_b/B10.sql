-- Example B.10 (QA_3): Account categories that send over $10,000,000 a day
-- A category is the first character of an account number, by bank. Oracle's SUBSTR counts from 1 and takes position 0
-- for 1: the first character.
SELECT   t1.sbank_aba sbank_aba, SUBSTR(t1.orig_account, 0, 1) orig_account,
         TO_CHAR(t1.tran_date, 'YYYYMMDD') stran_date,
         SUM(t1.amount) samount, COUNT(*) scount
FROM     FedWireTrans t1
GROUP BY t1.sbank_aba, SUBSTR(t1.orig_account, 0, 1),
         TO_CHAR(t1.tran_date, 'YYYYMMDD')
HAVING   (SUM(t1.amount) > 10000000);
