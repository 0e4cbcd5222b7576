SELECT received.tranid AS rtranid, sent.tranid AS stranid, received.rbank_name AS rbank_name,
       received.benef_account AS benef_account, received.tran_date AS rtran_date, sent.tran_date AS stran_date,
       received.amount AS ramount, sent.amount AS smount
FROM FedWireTrans AS received
JOIN FedWireTrans AS sent
  ON sent.sbank_aba = received.rbank_aba AND sent.orig_account = received.benef_account
 AND sent.amount = received.amount AND date_diff('day', received.tran_date, sent.tran_date) BETWEEN 0 AND 10
WHERE received.amount > 1000000
