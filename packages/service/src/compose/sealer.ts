import type { Config } from '../config.ts'
import { createSealer, type Sealer } from '../seal/sealer.ts'

/** Seals with the first configured key and opens with any. */
export function createConfiguredSealer(sealKeys: Config['sealKeys']): Sealer {
  return createSealer({
    keys: sealKeys.map(({ id, key }) => ({ id, key: Buffer.from(key.reveal(), 'hex') })),
  })
}
