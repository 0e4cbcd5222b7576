SELECT left(disease, 3) AS dis_cat, hospital, CAST(visit_date AS DATE) AS vdate,
       COUNT(*) AS visits, AVG(fee) AS avg_fee
FROM Med
GROUP BY ALL
