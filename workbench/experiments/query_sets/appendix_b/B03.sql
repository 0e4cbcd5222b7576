-- Example B.3 (Q_3): The whole sum left the bank within ten days
-- For every big transfer: did the money stay in the bank, or leave it at once and whole within ten days?
SELECT r1.tranid rtranid, r2.tranid stranid,
       r1.rbank_name rbank_name,
       r1.benef_account benef_account,
       r1.tran_date rtran_date,
       r2.tran_date stran_date,
       r1.amount ramount, r2.amount smount
FROM   FedWireTrans r1, FedWireTrans r2
WHERE  r1.rbank_aba = r2.sbank_aba AND
       r1.benef_account = r2.orig_account AND
       r1.tran_date <= r2.tran_date AND
       r1.tran_date + 10 >= r2.tran_date AND
       r1.amount > 1000000 AND
       r2.amount = r1.amount;
