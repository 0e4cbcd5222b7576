WITH received AS (SELECT rbank_aba, tran_date, SUM(amount) AS rsum FROM FedWireTrans GROUP BY ALL),
     sent AS (SELECT sbank_aba, tran_date, SUM(amount) AS ssum FROM FedWireTrans GROUP BY ALL)
SELECT received.rbank_aba, sent.sbank_aba, received.tran_date, received.rsum, sent.ssum
FROM received
JOIN sent ON sent.sbank_aba = received.rbank_aba AND sent.tran_date = received.tran_date
WHERE received.rsum > 100000000 AND sent.ssum > 50000000
