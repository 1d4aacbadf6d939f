import { compileTestContracts } from '../scripts/compile.ts'

/** Before the first file, since each process that found nothing in the cache would compile them. */
export function setup(): void {
  compileTestContracts()
}
