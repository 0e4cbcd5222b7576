SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra
FROM bid B JOIN (
  SELECT MAX(price) AS maxprice, time_bucket(INTERVAL '10' SECOND, dateTime, TIMESTAMP '1970-01-01') + INTERVAL '10' SECOND AS dateTime FROM bid GROUP BY time_bucket(INTERVAL '10' SECOND, dateTime, TIMESTAMP '1970-01-01')
) B1 ON B.price = B1.maxprice
WHERE B.dateTime BETWEEN B1.dateTime - INTERVAL '10' SECOND AND B1.dateTime
