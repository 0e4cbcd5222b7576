-- Example B.4 (Q_4): Most of a big sum left the bank in parts within ten days
-- The receiver of over $1,000,000 transfers more than half of it further within ten days, in however many parts.
SELECT   r.tranid tranid, r.rbank_aba rbank_aba,
         r.benef_account benef_account,
         AVG(r.amount) ramount, SUM(s.amount) samount
FROM     FedWireTrans r, FedWireTrans s
WHERE    r.rbank_aba = s.sbank_aba AND
         r.benef_account = s.orig_account AND
         r.tran_date <= s.tran_date AND
         s.tran_date <= r.tran_date + 10 AND
         r.amount > 1000000
GROUP BY r.tranid, r.rbank_aba, r.benef_account
HAVING   SUM(s.amount) > AVG(r.amount) * 0.5;
