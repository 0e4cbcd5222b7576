-- Example B.17 (QM_4): Children with lung disease twice within 40 days
-- Children under ten who came with the same disease of the lung (4800 to 5199) twice within 40 days. Shows in full the
-- approximate ID of a patient, and the predicates that two records of a patient satisfy.
SELECT   t1.bdate, t1.bym, t1.byear, t1.sex, t1.race, t1.zip, t1.townid, t1.payor, t1.age,
         t1.recid, t1.hospid, t1.adate, t1.ddate, t1.los, t1.disp, t1.dxs_01
FROM     MHDCFY01A t1, MHDCFY01A t2
WHERE    (t1.bdate = t2.bdate OR
          ((t1.bdate IS NULL OR t2.bdate IS NULL) AND t1.bym = t2.bym) OR
          ((t1.bdate IS NULL OR t2.bdate IS NULL)
           AND (t1.bym IS NULL OR t2.bym IS NULL)
           AND (t1.byear = t2.byear)))
  AND    t1.sex = t2.sex
  AND    (t1.race = t2.race OR t1.race IS NULL OR t2.race IS NULL)
  AND    t1.zip = t2.zip
  AND    t1.townid = t2.townid
  AND    (t1.patorg = t2.patorg OR
          (t1.patorg = '9' AND t2.patorg = '1')
          OR t1.patorg = '7' OR t2.patorg = '7')
  AND    t1.age < 10 AND t2.age < 11
  AND    t1.adate <= t2.adate AND t2.adate <= t1.adate + 40
  AND    t1.recid != t2.recid
  AND    t1.dxs_01 = t2.dxs_01
  AND    t1.dxs_01 >= '4800' AND t1.dxs_01 < '5200';
