SELECT tranid, sbank_name, tran_date, amount
FROM FedWireTrans
WHERE sbank_name IN ('Citibank (New York State)', 'Fleet Bank')
  AND tran_date BETWEEN DATE '2002-11-20' AND DATE '2002-11-30'
