SELECT bidder, COUNT(*) AS bid_count, MIN(dateTime) AS starttime, MAX(dateTime) + INTERVAL '10' SECOND AS endtime
FROM (
  SELECT *, SUM(CASE WHEN before IS NULL OR dateTime - before > INTERVAL '10' SECOND THEN 1 ELSE 0 END)
    OVER (PARTITION BY bidder ORDER BY dateTime) AS session
  FROM (SELECT *, LAG(dateTime) OVER (PARTITION BY bidder ORDER BY dateTime) AS before FROM bid)
)
GROUP BY bidder, session
