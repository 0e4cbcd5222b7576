SELECT P.id, P.name, P.starttime
FROM (SELECT DISTINCT id, name, time_bucket(INTERVAL '10' SECOND, dateTime, TIMESTAMP '1970-01-01') AS starttime FROM person) P
JOIN (SELECT DISTINCT seller, time_bucket(INTERVAL '10' SECOND, dateTime, TIMESTAMP '1970-01-01') AS starttime FROM auction) A ON P.id = A.seller AND P.starttime = A.starttime
