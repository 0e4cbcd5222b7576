SELECT bidder, COUNT(*) AS bid_count, time_bucket(INTERVAL '10' SECOND, dateTime, TIMESTAMP '1970-01-01') AS starttime, time_bucket(INTERVAL '10' SECOND, dateTime, TIMESTAMP '1970-01-01') + INTERVAL '10' SECOND AS endtime
FROM bid GROUP BY bidder, starttime, endtime
