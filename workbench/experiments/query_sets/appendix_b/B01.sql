-- Example B.1 (Q_1): Big transfers forwarded through an intermediate bank
-- Links big suspicious transfers of type 1000: the receiver of more than $1,000,000 sends at least half of it on
-- within 20 days, by way of an intermediate bank that forwards the same amount within 20 days.
SELECT r1.sbank_aba sbank, r1.orig_account saccount,
       r1.rbank_aba rbank, r1.benef_account raccount,
       r1.amount ramount, r1.tran_date rdate,
       r2.rbank_aba ibank, r2.benef_account iaccount,
       r2.amount iamount, r2.tran_date idate,
       r3.rbank_aba frbank, r3.benef_account fraccount,
       r3.amount framount, r3.tran_date frdate
FROM   FedWireTrans r1,
       FedWireTrans r2,
       FedWireTrans r3
WHERE  r2.type_code = 1000                    -- p1
AND    r3.type_code = 1000                    -- p2
AND    r1.type_code = 1000                    -- p3
AND    r1.amount > 1000000                    -- p4
AND    r1.rbank_aba = r2.sbank_aba            -- p5
AND    r1.benef_account = r2.orig_account     -- p6
AND    r2.amount > 0.5 * r1.amount            -- p7
AND    r1.tran_date <= r2.tran_date           -- p8
AND    r2.tran_date <= r1.tran_date + 20      -- p9
AND    r2.rbank_aba = r3.sbank_aba            -- p10
AND    r2.benef_account = r3.orig_account     -- p11
AND    r2.amount = r3.amount                  -- p12
AND    r2.tran_date <= r3.tran_date           -- p13
AND    r3.tran_date <= r2.tran_date + 20      -- p14
;
