SELECT B.auction, B.bidder, B.price, B.dateTime, A.itemName, A.category, P.name, P.city
FROM bid AS B
JOIN auction AS A ON B.auction = A.id
JOIN person AS P ON A.seller = P.id
