/** The message that the attester signs, in the escrow's domain. */
export const attestationTypes = {
  Claims: [{ name: 'ops', type: 'bytes32[]' }],
  Refund: [
    { name: 'op', type: 'bytes32' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const
