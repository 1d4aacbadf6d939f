// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

/// @title TransferProbe
/// @notice Never deployed: a node runs this code in the place of a holder, in a call that changes nothing.
contract TransferProbe {
    /// @notice Transfers a token, and says what the holder lost and the recipient got.
    function transferred(address token, address to, uint256 amount) external returns (uint256 lost, uint256 gained) {
        uint256 before = SafeTransferLib.balanceOf(token, address(this));
        gained = SafeTransferLib.balanceOf(token, to);
        SafeTransferLib.safeTransfer(token, to, amount);
        lost = before - SafeTransferLib.balanceOf(token, address(this));
        gained = SafeTransferLib.balanceOf(token, to) - gained;
    }
}
