-- Example B.6 (Q_6): Transfers of Citibank and Fleet in a period
-- The transfers that Citibank and Fleet sent from 20 to 30 November 2002.
SELECT r1.tranid tranid,
       r1.sbank_name sbank_name,
       r1.tran_date tran_date,
       r1.amount amount
FROM   FedWireTrans r1
WHERE  (r1.sbank_name = 'Citibank (New York State)' OR
        r1.sbank_name = 'Fleet Bank') AND
       r1.tran_date >= to_date('20021120', 'YYYYMMDD') AND
       r1.tran_date <= to_date('20021130', 'YYYYMMDD');
