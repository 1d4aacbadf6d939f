/** What the attester signs, in the escrow's domain. */
export const attestationTypes = {
  Claims: [{ name: 'ops', type: 'bytes32[]' }],
  Refund: [
    { name: 'op', type: 'bytes32' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const

/** Its domain where the input is in an intake vault: no contract checks it, whoever moves the input does. */
export function intakeDomain(chainId: number) {
  return { name: 'GeoIntake', version: '1', chainId } as const
}
