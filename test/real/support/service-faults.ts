import { delivered } from '../../../lab/simulator/faults.ts';
import type { Condition, TestFault } from '../../simulator/simulated-service.ts';

/** The first, third, … request of each page. */
export const everySecondTime: Condition = ({ offset }, requests) =>
  requests.filter((request) => request.offset === offset).length % 2 === 1;

/** The service closes the connection in the middle of a reply, whose length it has not said. */
export const closesEarly: TestFault = delivered((response, { status, headers, body }) => {
  response.writeHead(status, headers).write(body.subarray(0, body.length / 2), () => response.destroy());
});
