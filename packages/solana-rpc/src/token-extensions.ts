import { type Extension, nonZeroAddressAt } from './token-layout.ts'

type State = (value: Uint8Array, view: DataView) => Record<string, unknown>

// By extension number of the Token-2022 program. Those without a reader show only their name.
const EXTENSIONS: readonly (readonly [name: string, state?: State])[] = [
  ['uninitialized'],
  ['transferFeeConfig', transferFeeConfig],
  ['transferFeeAmount', (_value, view) => ({ withheldAmount: view.getBigUint64(0, true) })],
  ['mintCloseAuthority', (value) => ({ closeAuthority: nonZeroAddressAt(value, 0) })],
  ['confidentialTransferMint'],
  ['confidentialTransferAccount'],
  ['defaultAccountState', (value) => ({ accountState: value[0] === 2 ? 'frozen' : 'initialized' })],
  ['immutableOwner'],
  ['memoTransfer', (value) => ({ requireIncomingTransferMemos: value[0] === 1 })],
  ['nonTransferable'],
  ['interestBearingConfig'],
  ['cpiGuard', (value) => ({ lockCpi: value[0] === 1 })],
  ['permanentDelegate', (value) => ({ delegate: nonZeroAddressAt(value, 0) })],
  ['nonTransferableAccount'],
  ['transferHook', authorityAnd('programId')],
  ['transferHookAccount', (value) => ({ transferring: value[0] === 1 })],
  ['confidentialTransferFeeConfig'],
  ['confidentialTransferFeeAmount'],
  ['metadataPointer', authorityAnd('metadataAddress')],
  ['tokenMetadata'],
  ['groupPointer', authorityAnd('groupAddress')],
  ['tokenGroup'],
  ['groupMemberPointer', authorityAnd('memberAddress')],
  ['tokenGroupMember'],
  ['confidentialMintBurn'],
  ['scaledUiAmountConfig'],
  ['pausableConfig', (value) => ({ authority: nonZeroAddressAt(value, 0), paused: value[32] === 1 })],
  ['pausableAccount'],
]

/** An extension in `jsonParsed` form. One that is too short for its reader shows only its name. */
export function toExtensionJson(extension: Extension): Record<string, unknown> {
  const [name, readState] = EXTENSIONS[extension.kind] ?? ['unparseableExtension']
  if (!readState) return { extension: name }
  const { value } = extension
  try {
    const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
    return { extension: name, state: readState(value, view) }
  } catch {
    return { extension: name }
  }
}

function authorityAnd(field: string): State {
  return (value) => ({ authority: nonZeroAddressAt(value, 0), [field]: nonZeroAddressAt(value, 32) })
}

function transferFeeConfig(value: Uint8Array, view: DataView) {
  const feeAt = (offset: number) => ({
    epoch: view.getBigUint64(offset, true),
    maximumFee: view.getBigUint64(offset + 8, true),
    transferFeeBasisPoints: view.getUint16(offset + 16, true),
  })
  return {
    transferFeeConfigAuthority: nonZeroAddressAt(value, 0),
    withdrawWithheldAuthority: nonZeroAddressAt(value, 32),
    withheldAmount: view.getBigUint64(64, true),
    olderTransferFee: feeAt(72),
    newerTransferFee: feeAt(90),
  }
}
