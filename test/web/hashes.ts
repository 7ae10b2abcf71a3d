/** bcrypt hashes with each prefix, at a low cost. */
export const RIGHT = '$2y$04$HqUxLBkOYUHnXtKUOwyIsurnMvnrW6pnW.e8/EnyoVwi6ZdIjYDUa';
export const OTHER = '$2a$05$KaqC1Wlib5qTiHfXww5vcuD4hUYLqssoJkBXd2XBOM8q8UaPrPkfK';
export const NEW = '$2b$04$YoX/YXOJIrfPofDlyrtDge/v5p7isF6QePTuVHzsi1KuQDpNR5klq';

/** Hash of `grüß` in Latin-1. */
export const LATIN1 = '$2b$04$MkbvkO9vKGzZ8oKkXS38iuKv/xbEIuBox6BuWtawjldt1SANrmP0O';

/** Hash of `right` at a higher cost. */
export const SLOW = '$2b$11$6.rNp5wpoQJGk45xPplLculnRxS0a8R.BgxLCGvlhkfVygIONDJ8u';
