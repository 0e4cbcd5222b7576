SELECT Hot.auction, Hot.num
FROM (
  SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
) AS Hot
JOIN (
  SELECT MAX(Counted.num) AS most, Counted.starttime, Counted.endtime
  FROM (
    SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
  ) AS Counted
  GROUP BY Counted.starttime, Counted.endtime
) AS Largest
ON Hot.starttime = Largest.starttime AND Hot.endtime = Largest.endtime AND Hot.num >= Largest.most
