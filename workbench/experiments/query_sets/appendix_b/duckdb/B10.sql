SELECT sbank_aba, substr(orig_account, 1, 1) AS orig_account, strftime(tran_date, '%Y%m%d') AS stran_date,
       SUM(amount) AS samount, COUNT(*) AS scount
FROM FedWireTrans
GROUP BY ALL
HAVING SUM(amount) > 10000000
