-- Example B.19 (QM_6): Complications after a kidney transplantation
-- Patients whose kidney was transplanted (operation 556) and who came with complications (99681) within 40 days.
-- `t1.ID` and `t1.ID = t2.ID` are written out as in B.17.
SELECT   t1.bdate, t1.bym, t1.byear, t1.sex, t1.race, t1.zip, t1.townid, t1.payor, t1.age,
         t1.ops_01, t2.dxs_01
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
  AND    t1.ops_01 >= '556' AND t1.ops_01 < '557'
  AND    (t2.dxs_01 = '99681' OR t2.dxs_02 = '99681' OR
          t2.dxs_03 = '99681' OR t2.dxs_04 = '99681')
  AND    t1.adate <= t2.adate AND t2.adate < t1.adate + 40
  AND    t1.recid != t2.recid;
