SELECT received.tranid AS rtranid, sent.tranid AS stranid, received.rbank_name AS rbank_name,
       received.tran_date AS rtran_date, received.amount AS ramount, sent.amount AS smount
FROM FedWireTrans AS received
JOIN FedWireTrans AS sent
  ON sent.sbank_aba = received.rbank_aba
 AND strftime(sent.tran_date, '%Y%m%d') = strftime(received.tran_date, '%Y%m%d')
WHERE received.amount > 1000000 AND sent.amount > 500000
