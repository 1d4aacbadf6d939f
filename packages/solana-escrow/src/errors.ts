/** The custom errors of the program. Other programs' codes are far below, so a code tells which program refused. */
export const escrowErrors = {
  WRONG_ACCOUNT_COUNT: 7001,
  /** The first byte names no instruction, or the data has another length than its instruction. */
  WRONG_DATA: 7002,
  /** The authority is not the address of these terms. */
  WRONG_AUTHORITY: 7003,
  WRONG_RENT_RECEIVER: 7004,
  /** Neither Token nor Token-2022. */
  WRONG_TOKEN_PROGRAM: 7005,
  /** The source is no token account of this token program and authority: there is no input here any more. */
  WRONG_SOURCE: 7006,
  /** The destination does not belong to the wallet (refund) or the vault (claim). */
  WRONG_DESTINATION: 7007,
  /** A claim without the attester's signature. */
  NOT_ATTESTED: 7008,
  /** A refund before the deadline without the attester's signature. */
  TOO_EARLY: 7009,
  VAULT_DID_NOT_SIGN: 7010,
  PAYER_DID_NOT_SIGN: 7011,
  /** A delivery after its deadline. */
  TOO_LATE: 7012,
  /** The marker is not the address of this vault and op. */
  WRONG_MARKER: 7013,
  ALREADY_DELIVERED: 7014,
  /** A sweep of an account that this program does not own. */
  NOT_A_MARKER: 7015,
  /** A sweep to another account than the payer's. */
  WRONG_PAYER: 7016,
  /** A sweep while the marker may still be needed. */
  NOT_SWEEPABLE: 7017,
  /** A refund after the deadline that keeps the rent, without the signature of attester or wallet. */
  RENT_KEPT_UNSIGNED: 7018,
  /** The op id is not the hash of this vault, token, recipient, least amount and deadline. */
  WRONG_OP: 7019,
  /** Less than the least amount of the op. */
  TOO_LITTLE: 7020,
} as const

export type EscrowErrorName = keyof typeof escrowErrors

/** The name of a custom error of the program; undefined for a code of another program. */
export function findEscrowError(code: number): EscrowErrorName | undefined {
  const names = Object.keys(escrowErrors) as EscrowErrorName[]
  return names.find((name) => escrowErrors[name] === code)
}
