SELECT tranid, sbank_name, tran_date, amount
FROM FedWireTrans
WHERE sbank_name = 'Citibank (New York State)' AND tran_date = DATE '2002-11-27' AND amount > 10000000
