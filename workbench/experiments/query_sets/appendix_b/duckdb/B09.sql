SELECT rbank_aba, strftime(tran_date, '%Y%m%d') AS rtran_date,
       SUM(amount) AS ramount, COUNT(*) AS recount
FROM FedWireTrans
GROUP BY ALL
HAVING SUM(amount) > 10000000
