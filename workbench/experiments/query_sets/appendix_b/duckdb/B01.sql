SELECT big.sbank_aba AS sbank, big.orig_account AS saccount,
       big.rbank_aba AS rbank, big.benef_account AS raccount,
       big.amount AS ramount, big.tran_date AS rdate,
       onward.rbank_aba AS ibank, onward.benef_account AS iaccount,
       onward.amount AS iamount, onward.tran_date AS idate,
       final.rbank_aba AS frbank, final.benef_account AS fraccount,
       final.amount AS framount, final.tran_date AS frdate
FROM FedWireTrans AS big
JOIN FedWireTrans AS onward
  ON onward.sbank_aba = big.rbank_aba AND onward.orig_account = big.benef_account
 AND onward.amount * 2 > big.amount
 AND onward.tran_date BETWEEN big.tran_date AND big.tran_date + 20
JOIN FedWireTrans AS final
  ON final.sbank_aba = onward.rbank_aba AND final.orig_account = onward.benef_account
 AND final.amount = onward.amount
 AND final.tran_date BETWEEN onward.tran_date AND onward.tran_date + 20
WHERE big.amount > 1000000 AND big.type_code = 1000 AND onward.type_code = 1000 AND final.type_code = 1000
