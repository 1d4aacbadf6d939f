/** The message that the attester signs, in the escrow's domain. */
export const attestationTypes = {
  Claims: [{ name: 'ops', type: 'bytes32[]' }],
  Refund: [
    { name: 'op', type: 'bytes32' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const

/**
 * The domain for inputs in an intake vault. No contract checks it; the service does before it moves the
 * input.
 */
export function intakeDomain(chainId: number) {
  return { name: 'GeoIntake', version: '1', chainId } as const
}
