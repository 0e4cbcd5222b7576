SELECT rbank_aba, substr(benef_account, 1, 1) AS benef_account, strftime(tran_date, '%Y%m%d') AS rtran_date,
       SUM(amount) AS ramount, COUNT(*) AS recount
FROM FedWireTrans
GROUP BY ALL
HAVING SUM(amount) > 10000000
