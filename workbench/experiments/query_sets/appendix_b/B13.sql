-- Example B.13 (B): Visits and average fee by hospital and day
-- In the thesis, over the same imaginary stream as B.12:
--     SELECT hospital, vdate, AVERAGE(fee) FROM Med GROUP BY hospital, DAY(visit_date) AS vdate
-- Mended like B.12. The number of visits, which the text asks for and the SELECT list lacks, is added.
SELECT   hospital, TRUNC(visit_date) vdate,
         COUNT(*) visits, AVG(fee) avg_fee
FROM     Med
GROUP BY hospital, TRUNC(visit_date);
