SELECT Q.seller,
  AVG(Q.final) OVER (PARTITION BY Q.seller ORDER BY Q.dateTime ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS average
FROM (
  SELECT A.id, A.seller, B.price AS final, B.dateTime,
    ROW_NUMBER() OVER (PARTITION BY A.id, A.seller ORDER BY B.price DESC, B.dateTime) AS rownum
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.expires
) AS Q
WHERE Q.rownum <= 1
