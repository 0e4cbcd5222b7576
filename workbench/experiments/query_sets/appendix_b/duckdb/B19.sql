WITH pairs AS (
  -- Whichever of date, month and year of birth is the finest that both records have must agree.
  SELECT a, b
  FROM MHDCFY01A AS a
  JOIN MHDCFY01A AS b ON b.sex = a.sex AND b.zip = a.zip AND b.townid = a.townid AND b.recid <> a.recid
  WHERE CASE WHEN a.bdate IS NOT NULL AND b.bdate IS NOT NULL THEN a.bdate = b.bdate
             WHEN a.bym IS NOT NULL AND b.bym IS NOT NULL THEN a.bym = b.bym
             ELSE a.byear = b.byear END
    AND coalesce(a.race = b.race, true)
    AND (a.patorg = b.patorg OR a.patorg || b.patorg = '91' OR '7' IN (a.patorg, b.patorg))
    AND a.ops_01 LIKE '556%' AND '99681' IN (b.dxs_01, b.dxs_02, b.dxs_03, b.dxs_04)
    AND b.adate - a.adate BETWEEN 0 AND 39
)
SELECT a.bdate, a.bym, a.byear, a.sex, a.race, a.zip, a.townid, a.payor, a.age,
       a.ops_01, b.dxs_01
FROM pairs
