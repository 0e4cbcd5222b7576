SELECT B.auction, B.bidder, B.price, B.dateTime, S."value" FROM bid B JOIN side_input AS S ON B.auction % 10 = S.key
