// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev A proxy that reads its admin and its target with every call, as USDC's does.
contract AdminProxy {
    bytes32 private constant ADMIN_SLOT = keccak256("test.proxy.admin");
    bytes32 private constant TARGET_SLOT = keccak256("test.proxy.target");

    constructor(address target, address admin) {
        (bytes32 targetSlot, bytes32 adminSlot) = (TARGET_SLOT, ADMIN_SLOT);
        assembly {
            sstore(targetSlot, target)
            sstore(adminSlot, admin)
        }
    }

    fallback() external payable {
        (bytes32 targetSlot, bytes32 adminSlot) = (TARGET_SLOT, ADMIN_SLOT);
        assembly {
            if eq(caller(), sload(adminSlot)) { revert(0, 0) }
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(targetSlot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
