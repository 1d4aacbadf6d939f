import type { ActiveKey } from '../../src/store/api-keys.ts'

/** The settings of a secret key without limits of its own. */
export const plainKey: Omit<ActiveKey, 'id' | 'accountId' | 'hash'> = {
  kind: 'secret',
  accountName: 'test',
  limits: {},
  origins: [],
  rules: {},
}
