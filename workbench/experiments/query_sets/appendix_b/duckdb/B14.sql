WITH pairs AS (
  SELECT later.dxs_01, later.zip, later.adate, later.recid, later.adate - earlier.adate AS days
  FROM MHDCFY01A AS earlier
  JOIN MHDCFY01A AS later ON later.dxs_01 = earlier.dxs_01 AND later.adate > earlier.adate
  WHERE earlier.dxs_01 >= '022' AND earlier.dxs_01 < '023'
)
SELECT DISTINCT dxs_01, zip, adate, recid FROM pairs
EXCEPT
SELECT dxs_01, zip, adate, recid FROM pairs WHERE days < 40
