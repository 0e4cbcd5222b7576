SELECT sbank_aba, strftime(tran_date, '%Y%m%d') AS stran_date,
       SUM(amount) AS samount, COUNT(*) AS scount
FROM FedWireTrans
GROUP BY ALL
HAVING SUM(amount) > 10000000
