-- zipdistance is registered from workbench.experiments.sample_streams.zipcodes with null_handling='special'.
WITH nearest AS (
  SELECT later.dxs_01, later.zip, later.adate, later.recid, MIN(zipdistance(later.zip, earlier.zip)) AS miles
  FROM MHDCFY01A AS earlier
  JOIN MHDCFY01A AS later ON later.dxs_01 = earlier.dxs_01
   AND later.adate > earlier.adate AND later.adate - earlier.adate < 40
  WHERE earlier.dxs_01 >= '022' AND earlier.dxs_01 < '023'
  GROUP BY ALL
)
SELECT dxs_01, zip, adate, recid FROM nearest WHERE miles < 50
