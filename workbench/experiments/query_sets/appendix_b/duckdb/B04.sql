-- tranid is a key, so AVG(r.amount) is r.amount; comparing sums keeps the test exact where AVG would be a DOUBLE.
SELECT received.tranid AS tranid, received.rbank_aba AS rbank_aba, received.benef_account AS benef_account,
       MIN(received.amount) AS ramount, SUM(sent.amount) AS samount
FROM FedWireTrans AS received
JOIN FedWireTrans AS sent
  ON sent.sbank_aba = received.rbank_aba AND sent.orig_account = received.benef_account
 AND sent.tran_date BETWEEN received.tran_date AND received.tran_date + 10
WHERE received.amount > 1000000
GROUP BY ALL
HAVING SUM(sent.amount) * 2 > MIN(received.amount)
