-- Example B.20 (QM_7): Liver cancer after a disease of the liver
-- Patients who came with a disease of the liver (070, 570 to 573), did not die of it, and came with liver cancer (155)
-- later. `t1.ID` and `t1.ID = t2.ID` are written out as in B.17. The second of two output columns of the same name is
-- called t2_… so that both can be told apart.
SELECT   t1.bdate, t1.bym, t1.byear, t1.sex, t1.race, t1.zip, t1.townid, t1.payor, t1.age,
         t1.dxs_01, t2.dxs_01 t2_dxs_01
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
  AND    t1.adate < t2.adate
  AND    (t1.dxs_01 >= '070' AND t1.dxs_01 < '071' OR
          t1.dxs_01 >= '570' AND t1.dxs_01 < '574')
  AND    t1.disp != '20'
  AND    (t2.dxs_01 >= '155' AND t2.dxs_01 < '156');
