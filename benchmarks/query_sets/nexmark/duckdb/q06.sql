SELECT seller,
  AVG(final) OVER (PARTITION BY seller ORDER BY dateTime, seller, final ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS average
FROM (
  SELECT A.id, A.seller, B.price AS final, B.dateTime,
    ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.dateTime) AS rownum
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.expires
) AS Q
WHERE rownum <= 1
