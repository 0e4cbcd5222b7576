WITH hot AS (
  SELECT auction, COUNT(*) AS num, first_slice - 2 * n * INTERVAL '1' SECOND AS starttime
  FROM (SELECT auction, dateTime, time_bucket(INTERVAL '2' SECOND, dateTime, TIMESTAMP '1970-01-01') AS first_slice FROM bid), range(5) AS windows(n)
  GROUP BY ALL
)
SELECT auction, num FROM hot
WHERE num >= (SELECT MAX(num) FROM hot AS other WHERE other.starttime = hot.starttime)
