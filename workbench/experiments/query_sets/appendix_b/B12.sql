-- Example B.12 (A): Visits and average fee by category of disease, hospital and day
-- The thesis writes it for an imaginary stream of visits, in SQL that no system accepts:
--     SELECT dis_cat, hospital, vdate, COUNT(*), AVERAGE(fee) FROM Med
--     GROUP BY CAT(disease) AS dis_cat, hospital, DAY(visit_date) AS vdate
-- Mended: AVG for AVERAGE, the names in the SELECT list, CAT as the first three characters of the code, DAY as TRUNC.
SELECT   SUBSTR(disease, 1, 3) dis_cat, hospital, TRUNC(visit_date) vdate,
         COUNT(*) visits, AVG(fee) avg_fee
FROM     Med
GROUP BY SUBSTR(disease, 1, 3), hospital, TRUNC(visit_date);
