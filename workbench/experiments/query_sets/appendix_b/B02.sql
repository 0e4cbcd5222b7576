-- Example B.2 (Q_2): A bank that passes big money on the same day
-- Banks that received a transfer of over $1,000,000 and sent one of over $500,000 on the same day.
SELECT r1.tranid rtranid, r2.tranid stranid,
       r1.rbank_name rbank_name,
       r1.tran_date rtran_date,
       r1.amount ramount, r2.amount smount
FROM   FedWireTrans r1, FedWireTrans r2
WHERE  r1.rbank_aba = r2.sbank_aba AND
       to_char(r1.tran_date, 'YYYYMMDD')
           = to_char(r2.tran_date, 'YYYYMMDD') AND
       r1.amount > 1000000 AND
       r2.amount > 500000;
